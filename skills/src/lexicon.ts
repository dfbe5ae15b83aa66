/**
 * Words of testing that mean the same, in English, French and German: the meaning, then its words in any form; `_` joins
 * an expression of several words. A word may have several meanings.
 */
export const meanings = `
run: run execute start launch perform trigger fire kick_off play_back exécuter lancer lance démarrer jouer ausführen starten starte durchführen anstoßen laufen_lassen lass_laufen fahre exec relancer relance rejouer répéter répète rerun repeat retry wiederholen wiederhole give_it_a_run führ führe führen spiel_ab invoke go_through_once have_a_go give_it_a_go give_a_go faire_tourner fais_tourner tourner anwerfen wirf_an durchlaufen
again: again redo once_more one_more_time encore nouveau_lancement nochmal nochmals erneut noch_einmal refais refaire another_time wiederholen wiederhole répéter relancer relance rerun repeat
stop: stop cancel abort kill halt interrupt terminate quit call_off annuler arrêter arrête interrompre stopper couper abbrechen brich stoppen stoppe anhalten beenden beende abwürgen halts
finish: finish finished done complete completed completion ready ended over fini finir terminé termine achevé fertig beendet zu_ende abgeschlossen
progress: progress how_far how_much_longer eta percent_done still_running still_going currently_running in_progress underway going_on avancement où_en_est en_cours toujours_en_cours wie_weit läuft_noch fortschritt noch_am_laufen laufend laufende laufenden which_step what_step welchem_schritt quelle_étape étape_actuelle how_long_until how_long_will how_long_does_it how_much_time_left dans_combien_de_temps encore_combien_de_temps combien_de_temps_reste wie_lange_noch wie_lange_dauert wie_lange_braucht how_many_steps where_are_we_with where_does_it_stand how_far_along tout_à_l_heure_où en_est noch_dabei what_percent
wait: wait notify_me tell_me_when let_me_know_when let_me_know_as_soon_as as_soon_as attendre attends préviens_moi dès_que warte warten sobald sag_bescheid gib_bescheid bescheid_wenn ping_me melde_dich
execution: execution executions the_run a_run this_run that_run last_run test_run runs runs_of failed_run failed_runs red_run green_run exécution exécutions dernier_run du_run le_run lauf läufe laufs testlauf testläufe läufen ausführung ausführungen durchlauf session job jobs nightly regression executing exec campaign campagne run_of
test: test tests testcase test_case case cases scenario scenarii scénario cas_de_test cas essai testfall testfälle testfalls prüffall szenario smoke check_case suite suites regression campagne
device: device devices phone phones tablet tablets ipad iphone pixel galaxy samsung android android_phone emulator simulator handset browser chrome firefox safari edge_browser shield fire_tv bravia appareil appareils téléphone tablette navigateur poste terminal gerät geräte geräts handy handys smartphone rechner emulatoren xiaomi oneplus huawei nokia motorola roku chromecast firestick box boxes stb settop set_top tv tvs telly television télé télévision téléviseur décodeur boîtier fernseher receiver decoder apple_tv android_tv google_tv lg_tv smart_tv dongle
tv: tv tvs firetv arris technicolor sagemcom freebox panasonic philips sony_tv samsung_tv lg fernseh_app decoders tvos webos tizen hbbtv epg fire_stick streaming_stick humax roku chromecast shield receiver_box stb settop set_top set_top_box box boxes telly television télé télévision téléviseur décodeur décodeurs boîtier fernseher fernsehers receiver decoder apple_tv android_tv google_tv fire_tv bravia roku iptv settopbox set_top_boxen dongle lg_tv smart_tv
phone: phone phones mobile mobiles smartphone smartphones cellphone handset android ios iphone ipad tablet tablets pixel galaxy xiaomi redmi oneplus huawei nokia motorola fairphone apk emulator simulator téléphone téléphones portable tablette tablettes handy handys mobiltelefon mobil mobile_app s21 s22 s23 s24 a54 a55
website: website websites site sites web webapp web_app webpage webshop web_shop portal browser chrome chromium firefox safari url intranet homepage online_shop boutique_en_ligne site_web navigateur portail webseite webseiten internetseite onlineshop webanwendung web_client back_office
desktop: desktop desktop_app windows_app mac_app
app: app apps application applications userinterface userinterfaces user_interface interface appli applis anwendung anwendungen benutzeroberfläche oberfläche product website site webapp
model: model models modell modelle modèle modèles definition navigation_model app_model
host: host hosts hôte hôtes server servers machine machines serveur rechner station agent_machine
lab: lab labs laboratory farm farms fleet park parc labo labor rack testlabor gerätepark flotte everything_in_the_lab morning_round setup_room bench testfarm infrastructure environment_health
all: all every everything each whole entire any_of tous toutes tout chaque ensemble complet alle alles jede jeden jeder jedes ganze gesamte sämtliche full complete whole_list toutes_les
health: health healthy alive dead up_and_running works what_works in_order santé forme fonctionnent marchent bon_état gesund gesundheit in_ordnung funktionieren lebt check_up checkup round_of rundgang ronde sain alles_klar everything_fine all_fine all_well all_good everything_ok tout_va_bien alles_gut all_ok everything_okay
overview: overview big_picture at_a_glance vue_d_ensemble aperçu tour_d_horizon überblick übersicht gesamtbild general_state
status: status state condition shape statut état zustand lage verfassung how_is how_are wie_geht
free: free available unused idle vacant spare unoccupied nobody_using libre libres disponible disponibles dispo inutilisé inoccupé frei freie freies freien verfügbar unbenutzt ungenutzt übrig can_i_use puis_je_utiliser kann_ich_benutzen unlocked left_over available_now may_i_take can_i_borrow darf_ich puis_je_prendre
occupied: occupied busy blocking holds holding hogging booked reserved leased locked in_use used_by using occupé occupe bloque utilise réservé verrouillé belegt besetzt blockiert benutzt reserviert gesperrt verwendet gerade_benutzt qui_utilise qui_occupe qui_bloque qui_tient qui_se_sert is_taken already_taken someone_using someone_is_using someone_is_on someone_on_it doing_at_the_moment ist_besetzt taken grabbed pris prise in_beschlag vergeben
who: who whose who_s wer wem qui_utilise qui_occupe qui_bloque qui_a à_qui qui_tient qui_se_sert squad which_team bereitschaft astreinte on_call
compatible: compatible suitable can_run able_to_run runs_on supports geeignet kompatibel lauffähig peut_faire_tourner convient
online: online reachable offline unreachable en_ligne joignable connecté hors_ligne erreichbar verbunden unerreichbar is_up are_up all_up hosts_up is_down are_down machines_are_down
missing: missing not_found can_t_find cannot_find can_t_be_found doesn_t_see does_not_see not_see not_detected not_recognized not_recognised undetected invisible disappeared not_listed no_device no_devices not_show_up doesn_t_show doesn_t_appear not_appear vanished introuvable absent manquant ne_voit_pas pas_détecté pas_reconnu n_apparaît_pas disparu fehlt fehlen nicht_gefunden nicht_erkannt nicht_in_der_liste taucht_nicht verschwunden nicht_auf_der_liste nicht_sichtbar findet_nicht sieht_nicht erkennt_nicht lack lacks lacking manque show_up shows_up wird_nicht_erkannt keine_geräte
unusable: can_t_use cannot_use unusable not_usable won_t_connect won_t_open won_t_start can_t_connect cannot_connect unauthorized unauthorised refuses no_access can_t_access inutilisable ne_peux_pas_utiliser impossible_d_utiliser refuse_de nicht_benutzen nicht_verwenden unbrauchbar kann_ich_nicht verweigert startet_nicht verbindet_nicht geht_nicht_auf
tooling: adb ffmpeg usb driver usb_debugging debugging_usb usb_debuggen capture_card carte_de_capture capture_karte playwright chromium_missing port_in_use port_already dev_video0 udev plugged plugged_in branché eingesteckt angeschlossen angesteckt installed_browser path_variable permission permissions install installed installing installieren installer shows_nothing
why: why how_come reason cause what_caused pourquoi cause raison warum weshalb wieso woran grund ursache
diagnose: diagnose diagnosis diagnostic troubleshoot troubleshooting debug what_s_missing fix_setup diagnostiquer dépanner dépannage fehlersuche diagnostizieren problem_beheben what_now was_tun que_faire
not: not no without doesn_t won_t can_t cannot isn_t don_t never pas sans aucun aucune jamais ne nicht kein keine keinen ohne nie
alert: alert alerts alarm alarms warning warnings alerte alertes alarme alarmes avertissement alarm_meldung alarme warnung warnungen meldung watchdog alarmmeldung
real: real really genuine actual true serious legit legitimate justified bad severe severity how_bad critical_or sérieux sérieuse grave vrai vraie réel réelle gravité fondée echt echter echtes echten wirklich ernst schlimm tatsächlich berechtigt anything_to_it worth noise nonsense escalate escalating was_dran quelque_chose
false: false fake bogus spurious nonsense harmless fausse faux bidon falsch falscher fehlalarm unecht blinder_alarm screensaver only_the just_the
triage: triage triager trier judge assess evaluate rate_it classify_alert einschätzen bewerten einstufen évaluer qualifier have_a_look take_a_look look_at who_needs who_should deal_with needs_to_deal wake_someone wake_up who_has_to_deal kümmern wer_muss jeter_un_œil muss_da_jemand jemand_ran schau_dir
acknowledge: acknowledge ack acked i_m_on_it i_am_on_it take_it acquitter acquitte accuser prends_en_charge quittieren quittiere zur_kenntnis bestätigen take_over_the_alert mark_as_seen
dismiss: dismiss discard ignore reject throw_out throw_it_out wave_off ignorer rejeter écarter écarte verwerfen verwirf ignorieren wegdrücken ablehnen abweisen close irrelevant not_relevant schließen fermer ferme clôturer
confirm: confirm confirmed confirmer confirme bestätigen bestätige
open_state: open active outstanding pending unresolved ongoing unacknowledged ouvert ouverte ouvertes actives actif actives en_suspens offen offene offenen aktiv aktive anstehend current_ones unbestätigt unbestätigte unconfirmed unhandled nobody_has_looked nobody_looked
black: black blackscreen black_screen dark blank went_black gone_black noir noire schwarz schwarzer schwarzes schwarzbild dunkel écran_noir schwarzer_bildschirm
signal: signal no_signal signal_lost lost_signal no_picture pas_de_signal plus_de_signal kein_signal signal_weg kein_bild no_video hdmi audio_loss lost_its_signal no_sound pas_de_son kein_ton macroblocks macroblocking perte
crash: crash crashed crashes crashing planté plante plantage abgestürzt stürzt absturz abstürze anr hung hangs freeze freezes froze frozen stuck gelé figé fige gefroren eingefroren aufgehängt force_closed died häng_sich bleibt_hängen hängengeblieben
unresponsive: not_responding unresponsive doesn_t_respond doesn_t_react not_react stopped_responding ne_répond_plus ne_répond_pas ne_réagit_plus reagiert_nicht antwortet_nicht no_reaction tot
urgent: urgent urgently immediately emergency asap right_away quick quickly help act_fast secure incident incidents vite tout_de_suite immédiatement urgence au_secours agis dringend sofort schnell notfall hilfe vorfall
just: just suddenly all_of_a_sudden a_minute_ago vient_de soudain plötzlich gerade_eben soeben
event: event events webhook hook événement événements ereignis ereignisse
publish: publish report_that record_that tell_the_system let_labwright_know let_the_system_know put_that_into_the_system into_the_system feed_it_in feed_in pass_it_on notify_labwright inform_labwright que_signale publier publie informer informe annoncer faire_savoir melden melde veröffentlichen mitteilen teile_mit gib_weiter weitergeben trag_ein ins_system eintragen dem_system dans_le_système au_système labwright_wissen register_event log_event signale_que signaler_que signaler_un log_that log_this_as log_it_as note_that raise_an
ci: ci jenkins pipeline gitlab github_actions build_failed build_broke build_broken build_failure ci_job circleci teamcity azure_devops travis bamboo
deploy: deploy deployed deployment rolled_out roll_out rollout released_to shipped_to went_live déployé déployer déploiement mis_en_production livré ausgerollt deployt bereitgestellt eingespielt ausgeliefert staging
outside: grafana prometheus nagios datadog zabbix pagerduty external other_system other_tool monitoring externe extern
build: build builds version release branch branche nightly_build after_the_update since_the_update new_version après_la_mise_à_jour depuis_la_mise_à_jour nach_dem_update seit_dem_update neue_version
fail: failed_run failed_runs red_run fail failed fails failing failure failures red broke broken break breaks échec échecs échoué échoue échouer rouge rouges raté cassé cassés fehlgeschlagen fehlgeschlagene fehlgeschlagenen schlug schlägt_fehl fehlschlag fehlschläge rot rote roter kaputt gescheitert schiefgegangen kaputte defekt went_wrong go_wrong schief mal_tourné die died fall_over fell_over stumble stumbled crash_out
pass: green_run pass passed passes passing green success succeeded réussi réussie vert verte bestanden grün grüne erfolgreich
result: result results outcome outcomes résultat résultats ergebnis ergebnisse ergebnissen testergebnis how_did wie_lief wie_liefen comment_s_est_passé comment_se_sont how_was wie_ging
past: last_run dernier_run yesterday last_night last_week last_time this_week this_month overnight since monday tuesday wednesday thursday friday saturday sunday ago recent recently latest last previous hier nuit_dernière cette_nuit depuis lundi mardi mercredi jeudi vendredi samedi dimanche dernier dernière derniers dernières récent gestern letzte_nacht letzte letzten letzter letztes montag dienstag mittwoch donnerstag freitag samstag sonntag zuletzt vorige neueste heute_nacht weekend week_end wochenende am_wochenende ce_week_end today heute aujourd_hui seit_gestern seit_montag seit_dem seit_letzter fire_at_all this_morning ce_matin heute_früh heute_morgen past passé passée vergangen vergangene vergangenen
verdict: verdict verdicts urteil urteile jugement
trust: trust trustworthy believe reliable_verdict rely double_check doublecheck recheck second_look question_the correct accurate plausible too_good can_t_be suspicious confiance croire crédible fier se_fier vérifier_le_résultat revérifier plausibel trauen vertrauen vertraue glauben glaube verlassen stimmt überprüfe_das gegenprüfen nachprüfen zweifel doubt doubts validate valider validieren did_it_really did_really vraiment_fait wirklich_gemacht looks_wrong seems_wrong looks_odd trusted
flaky: flaky flake flakes flakiness unstable intermittent intermittently instable intermittent instabil wackelig wackelt sporadisch false_positive false_positives faux_positif faux_positifs falsch_positiv unreliable_test shaky
sometimes: sometimes now_and_then every_third every_second every_other on_and_off some_of_the_time randomly random occasionally once_in_a_while a_few_times several_times parfois de_temps_en_temps une_fois_sur par_moments aléatoire aléatoirement manchmal mal_grün mal_rot ab_und_zu gelegentlich jedes_zweite jedes_dritte zufällig same_build hin_und_wieder mal_so mal_geht's ohne_änderung mal_nicht und_mal_nicht mal_durch flipping flips keeps_flipping flip once_out jedes_mal_anders par_intermittence
or: or ou oder
classify: classify label categorize categorise mark_as mark put_down put_down_as tag_as file_as flag record_as classer classe étiqueter catégoriser marquer marque ranger einordnen ordne klassifizieren klassifiziere markieren markiere kennzeichnen einstufen verbuche
bug: bug bugs product_bug defect product_issue app_issue real_bug bogue bogues défaut anomalie produktfehler defekt echter_fehler
script_issue: script_issue script_problem script_error test_issue test_problem test_error script locator outdated_locator problème_de_script erreur_de_script skript skriptfehler skriptproblem testfehler
system_issue: system_issue system_problem environment_issue environment_problem lab_issue infrastructure_issue infra_issue infra umgebung umgebungsproblem umgebungsfehler systemfehler problème_d_environnement problème_système network_issue lab_problem
queue: queue backlog unanalyzed unanalysed awaiting nobody_has_looked not_looked_at unreviewed to_be_analysed file_d_attente en_attente warteschlange auswertungsschlange analyseschlange unbearbeitet nicht_ausgewertet abarbeiten work_through go_through unclassified unklassifiziert non_classé left_to_analyse
analyze: analyze analyse analyzing analysis analyses analyser analysieren auswerten auswertung auswertungen
report: report reports reporting rapport rapports compte_rendu bericht berichte berichts testbericht
write_up: write_up written_up sum_up summarize summarise summary summaries recap wrap_up digest overall short_overview where_we_stand résumé résumer synthèse synthétiser bilan bilan_rédigé récapitulatif rédige rédigé zusammenfassen fasse_zusammen zusammenfassung fazit gesamtlage wo_wir_stehen half_a_page
audience: management manager managers boss board steering meeting customer stakeholders client clients comité direction chef réunion client_report leitung vorstand chefin management_runde kunde kunden besprechung sprint week_s_testing quality release_board
html: html webpage_report html_page page_html self_contained
junit: junit xunit xml ctrf
file: file files attach attachment download downloadable fichier fichiers pièce_jointe télécharger datei dateien anhang anhängen herunterladen export_file
export: export exports exporting exporter exporte exportation exportieren exportiere extract sors_moi rausschreiben dump_out
import: import importing importer importe importation importieren importiere load_file load upload charger charge einspielen laden lade hochladen bring_in restore restaurer wiederherstellen
yaml: yaml yml git repo repository versioning version_control dépôt versionner
backup: backup back_up backups save_a_copy copy sauvegarde sauvegarder copie sichern sicherung sicherungskopie sicher kopie archive archivieren
transfer: transfer migrate move_to another_server other_server other_installation another_installation another_machine hand_over transférer migrer déplacer déplace vers_le_serveur übertragen umziehen verschieben auf_den_server andere_installation autre_serveur share_with new_server neuen_server
list: list listing which_ones what_do_we_have do_we_have show_all display_all enumerate lister liste listes quels_sont quelles_sont auflisten auflistung aufzählen liste_auf was_gibt_es which_exist exist exists existing
show: show display view see look give_me tell_me montrer montre afficher affiche voir donner zeigen zeig zeige anzeigen ansehen anschauen
inspect: inspect look_into examine details detail don_t_touch without_changing read_only inspecter détails examiner inspizieren untersuchen einzelheiten ohne_zu_ändern nichts_ändern sans_rien_modifier don_t_move do_not_touch nichts_anfassen ne_touche_à_rien just_looking only_look look_only nur_ansehen nur_gucken juste_regarder just_look
which: which what quel quelle quels quelles welche welcher welches welchen was
how_often: how_often how_reliable reliability reliable reliably success_rate succeed succeeds rate fiabilité fiable taux_de_réussite combien_de_fois zuverlässig zuverlässigkeit erfolgsquote wie_oft
create: create add new make put_in insert set_up setup introduce define record_a draw build_up créer crée créez ajouter ajoute nouveau nouvelle nouveaux mettre_en_place définir anlegen lege leg angelegt anlegt erstellen erstelle hinzufügen füge neu neue neuen neues einfügen aufnehmen einrichten richte put_one_in put_it_in add_one inserts between
delete: delete remove erase drop wipe get_rid_of throw_away kill_off supprimer supprime effacer efface enlever enlève retirer retire jeter löschen lösche lösch gelöscht entfernen entferne wegwerfen weg_damit rausschmeißen schmeiß muss_weg soll_weg drop_the
edit: edit change update modify alter adjust fix correct revise replace instead rework modifier modifie changer change mettre_à_jour mets_à_jour corriger corrige remplacer adapter ändern ändere geändert anpassen passe_an bearbeiten bearbeite aktualisieren aktualisiere korrigieren ersetzen ersetze swap shorten lengthen exchange tausche tauschen échanger remplace
rename: rename renaming renommer renomme umbenennen benenne umbenannt call_it_instead new_name is_now_named now_called now_named heißt_jetzt s_appelle_maintenant new_title
moved: moved relocated now_have_to now_you_have_to you_now_have instead_of déplacé a_changé verschoben umgezogen jetzt_über sitzt_jetzt
write: write writes compose author draft écrire écris rédiger schreiben schreib schreibe verfassen
step: step steps étape étapes schritt schritte schritten
check: check checks verify assertion assertions verification verifications validation vérifier vérifie vérification contrôle contrôler prüfen prüfe prüf prüfung prüfungen überprüfen überprüfe kontrollieren kontrolliere nachsehen
visible: visible shown displayed appears present on_screen there_is showing say says reads displays does_it_say is_it_showing visible affiché affichée affiche_t_il présent à_l_écran sichtbar angezeigt zu_sehen steht erscheint vorhanden sehe_ich is_there are_there do_you_see can_you_see siehst_du vois_tu y_a_t_il gibt_es_auf does_it_show reads_now do_we_see sieht_man voit_on
now: now right_now at_the_moment currently atm presently this_moment maintenant actuellement en_ce_moment jetzt gerade momentan im_moment derzeit aktuell
screenshot: screenshot screenshots snapshot snapshots picture pictures image images photo photos shoot capture captures capture_d_écran bildschirmfoto bild bilder screenshots aufnahme aufnahmen foto fotos
screen: screen screens page pages view views dialog dialogs écran écrans vue vues bildschirm bildschirme seite seiten ansicht ansichten maske
text: text texts label message banner headline heading button texte libellé bouton titre überschrift schriftzug hinweis beschriftung schaltfläche knopf welcome
element: element elements widget field checkbox icon élément éléments champ icône feld elemente symbol
url: url address link_address adresse
press: press pressing push hit appuyer appuie appuyez presser drücken drücke drück turn_the_volume volume_up volume_down lauter leiser turn_up turn_down plus_fort moins_fort switch_channel channel_up
key: key keys remote_key d_pad arrow touche touches flèche taste tasten menu_key volume pfeiltaste pfeil ok_button ok_taste back_key turn_the_volume volume_up volume_down lauter leiser channel_up
password: password passwort mot_de_passe kennwort pin passcode
percent: percent percentage prozent pourcentage how_many how_much wie_viel wie_viele combien share anteil proportion
click: click clicks tap taps touch swipe scroll long_press select choose cliquer clique cliquez toucher taper glisser défiler tippen tippe klicken klick klicke anklicken antippen wischen wische scrollen
type: type enter input fill fill_in key_in saisir saisis entrer remplir tape eingeben gib_ein eintippen ausfüllen log_in_with sign_in_with logge_dich connecte_toi anmelden_mit
open_page: open open_page open_url browse_to visit ouvrir ouvre öffnen öffne aufrufen rufe
control: control take_control drive steer operate contrôler piloter prendre_le_contrôle steuern steuere fernsteuern bedienen übernehmen
release: release give_back hand_back let_go libérer libère rendre freigeben gib_frei zurückgeben
go: go goto go_to go_there navigate bring take_me bring_up jump get_to switch_to aller va amène naviguer navigue rends_toi mener gehen gehe geh navigieren navigiere bring_das bringe wechseln wechsle wechsel spring springe steuere_an take_me_to get_me_to get_me take_me_there bring_me fahr_zu va_sur vas_sur
where: where where_are_we position location where_is où où_est wo wo_ist wo_sind standort
current: current present actuel actuelle aktuelle aktuellen aktueller
node: node nodes nœud nœuds knoten knotens knotenpunkt tab tabs onglet
edge: edge edges transition transitions transitons path paths way ways route routes arête arêtes chemin chemins parcours trajet kante kanten weg wege pfad pfade übergang übergänge home_to from_home way_back shortcut raccourci
tree: tree trees navigation_tree arbre arborescence arbre_de_navigation baum bäume navigationsbaum baums
map: map maps mapping carte plan karte landkarte draw_it_up cartographier kartieren aufzeichnen plan_de_l_appli
navigation: navigation navigations navigieren_in navigationsmodell
below: below beneath under underneath subtree subtrees sub_tree branch_under branch_with branch nested child children whole_section section submenu sub_menu sous_arbre sous_arbres sous en_dessous imbriqué imbriqués enfants sous_menu branche unter unterhalb darunter teilbaum unterbaum verschachtelt verschachtelte unterseiten untermenü kindknoten zweig unterpunkte inside nest nests own_tree own_little_tree own_small_tree eigener_baum eigenen_baum propre_arbre sub_pages subpages dedans à_l_intérieur
menu: menu menus menü menüs
explore: explore exploring exploration crawl crawling discover walk_through find_out_what find_out explorer explore_le découvrir parcourir découvre erkunden erkunde entdecken durchlaufen durchklicken klick_dich durchforsten durchstöbern durch_die spider learn
remote: remote remotes remote_control d_pad dpad arrow_keys pfeiltasten touches_fléchées télécommande fernbedienung
validate_all: walk_all re_walk walk_every try_all go_over repasse parcours_tous ablaufen abklappern ablauf_aller durchgehen
works: work works working still_works still_work still_ok still_fine stopped_working marche marchent fonctionne fonctionnent functions funktioniert funktionieren geht klappt tut_noch noch_ok reach reached reachable reachability gehen_noch erreichbar self_test
requirement: requirement requirements req reqs exigence exigences spécification anforderung anforderungen user_story stories lastenheft spec_item spec specs must_have
coverage: coverage covered cover covers uncovered couverture couvert couverte couvertes couvre couvrent abdeckung abgedeckt abgedeckte deckt decken ungedeckt testabdeckung gap gaps lücken lücke
priority: priority prio importance high_prio low_prio priorité prioritaire priorität wichtigkeit dringlichkeit p1 p2 p3
criteria: criteria criterion acceptance_criteria critère critères critères_d_acceptation kriterien kriterium akzeptanzkriterien abnahmekriterien
wording: wording reword rephrase phrasing ambiguous formulation reformuler reformule formulierung umformulieren formuliere wortlaut text_of texte_de say_exactly exactly
retire: retire deprecate deprecated obsolete outdated no_longer_valid obsolète périmée déprécier veraltet hinfällig überholt ausmustern außer_kraft
trace: trace traced what_is_it_for is_it_for linked_to traçabilité tracer nachweis rückverfolgbarkeit zurückverfolgen gehört_zu dahinter matrix belongs_to
link: link links tie associate attach_to connect_to relate map_to lier relier relie rattacher associer lien verknüpfen verknüpfe zuordnen ordne_zu verbinden verknüpfung
unlink: unlink detach untie dissociate disconnect délier détacher dissocier trennen entkoppeln lösen löse
category: category categories catégorie kategorie payment_category
settings: settings setting configuration config properties réglages réglage paramètres configuration einstellungen einstellung konfiguration
defined: defined known registered know defined_here définies connues connu enregistrées definiert bekannt hinterlegt registriert kennen
history: history historique verlauf historie
traceability: traceability traçabilité rückverfolgbarkeit rückverfolgung
prove: prove proves proven proof prouve prouvent prouver beweist belegen nachweis verifies verified durch_testfall belong belongs gehören gehört
howto: how_do_i_get how_do_you_get how_can_i_get how_to_get how_does_one_get comment_aller comment_va_t_on comment_passer wie_komme_ich wie_kommt_man wie_gelangt
untested: untested not_tested never_tested not_yet_tested ungetestet nicht_getestet noch_nicht_getestet pas_testées pas_testée pas_encore_testées jamais_testé not_checked_by
schedule: schedule schedules scheduled scheduling reschedule cron recurring nightly hourly daily weekly weekdays weekday every_night every_hour every_day every_morning every_evening each_night each_day o_clock planned interval planifier planification planifications planifié planifiée programmer programmée quotidien hebdomadaire toutes_les_nuits toutes_les_heures chaque_nuit chaque_jour tous_les_jours tous_les_soirs zeitplan zeitpläne zeitgesteuert geplant geplante planen einplanen täglich stündlich nächtlich nachts wöchentlich werktags jede_nacht jede_stunde jeden_tag jeden_morgen jeden_abend uhr
pause: pause paused pausing suspend suspended resume unpause aussetzen pausieren pausiere fortsetzen suspendre reprendre
script: script scripts skript skripte skripts python bash shell
log: log logs logfile journal journaux protokoll serverlog stack_trace stacktrace traceback exception log_lines
service: service services daemon process processes worker workers scheduler postgres database datenbank dienst dienste prozess prozesse processus démon base_de_données backend
reference: reference references ref golden baseline template templates expected_image expected_picture référence références referenz referenzen referenzbild vergleichsbild vergleichstext sollbild
record: record recording recorded film filming video videos clip footage screencast enregistrer enregistre enregistrement filmer filme vidéo vidéos aufnehmen aufnahme aufzeichnen aufzeichnung mitschneiden mitschnitt filmen
transcript: transcript transcripts transcribe said speech spoken transcription transcrire gesagt transkript speaker
battery: battery batterie charge charged charging akku akkustand geladen lädt power_level
measure: temperature température temperatur gps wifi wlan network réseau netzwerk orientation portrait landscape querformat hochformat storage memory speicherplatz mémoire sensor sensors capteurs sensoren location overheating bluetooth
generate: generate generated automate automated générer génère automatiser automatisé generieren generiere automatisieren come_up_with
compare: compare compared comparing comparison match matched comparer compare vergleichen vergleiche abgleichen
take: take takes nimm prends prendre bring
`;

/** Words that say nothing about what is wanted. */
export const empty = `
a an the this that these those my our your his her its their me us you i we he she it they them one ones of in on at to from
for with by as into onto off out about and also but if then than so do does did is are was were be been being am has have had
having can could would should will shall may might must let lets please pls plz thanks thank hi hello hey want wants need needs
like just some any more most much many very too there here when while because up s t d m re ll ve
set sets got been while still encore toujours
user im whats via per ok
le la les un une des du de d l au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs je tu il
elle on nous vous ils elles me te se moi toi y en que qu qui est sont etait ete etre suis es avons avez ont ai as a avoir fait
faire fais peux peut pouvez veux veut voudrais merci bonjour svp s stp et mais donc car si dans sur par pour avec chez c j m n
t bien plus tres
der die das den dem des ein eine einen einem einer eines mein meine dein unser unsere unseren ihr ihre ich du er sie es wir mich
mir dich dir uns euch ist sind war waren sein bin bist hat haben habe hast wird werden wurde kann kannst konnte soll sollen muss
will willst mochte bitte danke hallo und aber auch dann denn von vom zu zum zur mit bei fur auf aus an am im in ins nach uber um
als wie so ob dass doch mal noch schon nur da dort hier man sich
`;
